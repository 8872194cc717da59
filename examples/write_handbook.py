"""Write the built-in handbook as files, to try the commands of the README: docs/ and questions.csv.

    python write_handbook.py [FOLDER]

30 pages of documentation of a fictional product, and 135 questions, 15 of which the pages do not answer.
"""

import sys
from pathlib import Path

from embassay.corpora.builtin.handbook import write_files

if __name__ == "__main__":
    write_files(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
