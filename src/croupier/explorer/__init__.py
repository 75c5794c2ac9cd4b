"""The explorer: a page on which people move the numbers of a plan and see what follows."""
