# Prints the module that the `sysconfig` module reads, freed from where the build happened: CPython breaks its lines by
# length, so that even the length of a path would show.
import runpy
import sys

file, root = sys.argv[1:]
variables = runpy.run_path(file)["build_time_vars"]
print("# What this build of CPython was configured with.")
print("build_time_vars = {")
for name, value in sorted(variables.items()):
    text = value.replace(root, "/build") if isinstance(value, str) else value
    print(f"    {name!r}: {text!r},")
print("}")
