"""The page: every conversation of the store in a browser.

A screen is a module with a class that loads what it shows and gives it as HTML, JSON and Markdown; `routes` lists them.
Everything can be read, and nearly everything done, without JavaScript; the modules in `static` add keys, live updates
and fragments that replace parts of a screen. No script makes HTML: fragments are parsed by the browser as documents.
"""
