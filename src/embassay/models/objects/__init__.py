"""Objects and functions of Python and of other libraries."""
