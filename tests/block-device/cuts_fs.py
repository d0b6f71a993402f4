def arguments(parser): pass
