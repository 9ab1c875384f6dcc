NAME = "memory"
HELP = ""
def add_arguments(parser):
    pass
def run(arguments):
    pass
