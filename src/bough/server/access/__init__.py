"""Who may do what: tokens, the cookie of the page, names of hosts and origins."""
