"""The generated reference pages, one file each: a function from the service description to lines of Markdown.

`markdown` knows tables and nothing else. Stands beside the package and reads it; nothing in it is shipped.
"""
