"""A store in the shape that another agent SDK wants: one module or package per SDK.

Each can be imported without its SDK, which is imported when a class of the adapter is used.
"""
