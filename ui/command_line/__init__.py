"""The command line: parsing flags, and one module for each command."""
