"""Tables of users: the rows and columns of CSV, TSV, JSON lines and Parquet files, with the place of each mistake."""
