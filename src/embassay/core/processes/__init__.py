"""Work on several cores, in other processes and on other machines."""
