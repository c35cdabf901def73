"""What is held of every tool: `facts` reads a document, `postings` keeps which tools say which term, `columns` keeps
one row of facts per tool. Pure columns of numbers; `index` above puts and asks.
"""
