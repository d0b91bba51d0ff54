import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { BuildFailure, EXIT_CODES } from "./failure.mjs";

/**
 * Memory is asked for through pointers, so that somebody can hook in, such as tracemalloc. A function that calls through a pointer
 * may come to call itself, so the meter counts the depth of calls in it; and no function of CPython is called more often than
 * these. So whoever asks looks whether the pointer is the usual one, and calls the usual function by its name; all that calls
 * through a pointer stands in functions of its own, which the compiler must not put back.
 */
const HOOKED = `static Py_NO_INLINE void *
hooked_malloc(PyMemAllocatorEx *by, size_t size)
{
    return by->malloc(by->ctx, size);
}

static Py_NO_INLINE void *
hooked_calloc(PyMemAllocatorEx *by, size_t nelem, size_t elsize)
{
    return by->calloc(by->ctx, nelem, elsize);
}

static Py_NO_INLINE void *
hooked_realloc(PyMemAllocatorEx *by, void *ptr, size_t new_size)
{
    return by->realloc(by->ctx, ptr, new_size);
}

static Py_NO_INLINE void
hooked_free(PyMemAllocatorEx *by, void *ptr)
{
    by->free(by->ctx, ptr);
}

`;

/** A call through one of the pointers, and the same with a look at it first. */
function unhooked(domain, name, usual, args) {
  const given = name === "free" ? "" : "return ";
  const [before, usually] = [`${domain}.${name}(${domain}.ctx, ${args});`, `${usual}(${domain}.ctx, ${args});`];
  const branches = [
    `    if (${domain}.${name} == ${usual}) {`,
    `        ${given}${usually}`,
    ...(name === "free" ? ["        return;"] : []),
    "    }",
    `    ${given}hooked_${name}(&${domain}, ${args});`,
  ];
  return [`    ${given}${before}\n}`, `${branches.join("\n")}\n}`];
}

function unhookedDomain(domain) {
  return [
    unhooked(domain, "malloc", "_PyObject_Malloc", "size"),
    unhooked(domain, "calloc", "_PyObject_Calloc", "nelem, elsize"),
    unhooked(domain, "realloc", "_PyObject_Realloc", "ptr, new_size"),
    unhooked(domain, "free", "_PyObject_Free", "ptr"),
  ];
}

function notInlined(head) {
  return [`\n${head}`, `\nPy_NO_INLINE ${head}`];
}

/** What is changed in the sources before they are compiled: each text, which has to stand there once, and what replaces it. */
export const EDITS = [
  {
    source: "python3.11",
    file: "Objects/obmalloc.c",
    edits: [
      ["void *\nPyMem_RawMalloc(size_t size)", `${HOOKED}Py_NO_INLINE void *\nPyMem_RawMalloc(size_t size)`],
      notInlined("void *\nPyMem_RawCalloc(size_t nelem, size_t elsize)\n"),
      notInlined("void*\nPyMem_RawRealloc(void *ptr, size_t new_size)\n"),
      notInlined("void PyMem_RawFree(void *ptr)\n"),
      notInlined("static struct arena_object*\nnew_arena(void)\n"),
      notInlined("void\n_PyObject_VirtualFree(void *obj, size_t size)\n"),
      [
        "_PyObject_Arena.free(_PyObject_Arena.ctx,\n                             (void *)ao->address, ARENA_SIZE);",
        "_PyObject_VirtualFree((void *)ao->address, ARENA_SIZE);",
      ],
      ...unhookedDomain("_PyMem"),
      ...unhookedDomain("_PyObject"),
    ],
  },
];

/** Changes the sources. One that is not what we know is not compiled, because nobody knows what it would become. */
export function editSources(workspace) {
  for (const { source, file, edits } of EDITS) {
    const path = join(workspace.treeOf(source), file);
    writeFileSync(path, edited(readFileSync(path, "utf8"), edits, file));
  }
}

export function edited(text, edits, file) {
  return edits.reduce((sofar, [before, after]) => {
    const parts = sofar.split(before);
    if (parts.length === 2) return parts.join(after);
    const times = parts.length - 1;
    throw new BuildFailure(`${file} has this ${times} times instead of once:\n${before}`, EXIT_CODES.failed);
  }, text);
}
