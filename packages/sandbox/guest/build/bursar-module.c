/* The way back into an interpreter that has been started already.

   Boot code registers a callable; the host then calls the export `bursar_run`
   once for each request, in this instance or in one restored from a snapshot
   of it. Nothing is passed in or out: whatever is to be done, the callable
   reads from a descriptor that the host has opened for it. */

#include "Python.h"

static PyObject *registered = NULL;

PyDoc_STRVAR(register_doc,
"register(callable, /)\n"
"--\n"
"\n"
"Sets what the host calls, without arguments, when it calls bursar_run().");

static PyObject *
bursar_register(PyObject *Py_UNUSED(module), PyObject *callable)
{
    if (!PyCallable_Check(callable)) {
        PyErr_Format(PyExc_TypeError, "register() wants a callable, not %.200s", Py_TYPE(callable)->tp_name);
        return NULL;
    }
    Py_INCREF(callable);
    Py_XSETREF(registered, callable);
    Py_RETURN_NONE;
}

/* Gives 0, or -1 when nothing is registered or the callable raised, which is
   then reported as sys.unraisablehook does. There is one thread and it holds
   the lock, so there is nothing to acquire. */
__attribute__((visibility("default")))
int
bursar_run(void)
{
    if (registered == NULL) {
        return -1;
    }
    /* Boot code ends in os._exit(), so its frames are still there, and will
       never be returned to. A program must not see them below its own. */
    PyThreadState *state = PyThreadState_Get();
    state->cframe = &state->root_cframe;
    state->recursion_remaining = state->recursion_limit;

    PyObject *callable = Py_NewRef(registered);
    PyObject *result = PyObject_CallNoArgs(callable);
    if (result == NULL) {
        PyErr_WriteUnraisable(callable);
    }
    Py_DECREF(callable);
    Py_XDECREF(result);
    return result == NULL ? -1 : 0;
}

static PyMethodDef methods[] = {
    {"register", bursar_register, METH_O, register_doc},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_bursar",
    .m_doc = "What the sandbox needs inside of the interpreter.",
    .m_size = 0,
    .m_methods = methods,
};

PyMODINIT_FUNC
PyInit__bursar(void)
{
    return PyModuleDef_Init(&definition);
}
