// The scripts of the page. Without them everything can be read, and done with forms.
