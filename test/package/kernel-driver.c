/*
 * Runs the kernels of kernel.c outside Node: on an emulated processor, which has no Node. Each line of the input is a
 * sweep: the name of a kernel, `from`, `to` and the words of the job. Each line of the output is its result, or `none`
 * if there is no such kernel.
 */

#include "../../src/mining/engine/cpu/native/kernel.c"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The functions of Node that kernel.c refers to. None runs: this program calls the sweeps directly. */
#define UNUSED(name, ...) napi_status name(__VA_ARGS__) { abort(); }
UNUSED(napi_get_cb_info, napi_env e, napi_callback_info i, size_t *c, napi_value *v, napi_value *t, void **d)
UNUSED(napi_get_typedarray_info, napi_env e, napi_value v, napi_typedarray_type *t, size_t *l, void **d, napi_value *a,
       size_t *o)
UNUSED(napi_get_value_uint32, napi_env e, napi_value v, uint32_t *r)
UNUSED(napi_throw_type_error, napi_env e, const char *c, const char *m)
UNUSED(napi_create_uint32, napi_env e, uint32_t v, napi_value *r)
UNUSED(napi_create_function, napi_env e, const char *n, size_t l, napi_callback c, void *d, napi_value *r)
UNUSED(napi_create_string_latin1, napi_env e, const char *s, size_t l, napi_value *r)
UNUSED(napi_set_named_property, napi_env e, napi_value o, const char *n, napi_value v)

static sweep_function *named(const char *name) {
#if defined(__x86_64__)
  if (strcmp(name, "native-avx512") == 0 && __builtin_cpu_supports("avx512f")) return sweep_avx512;
  if (strcmp(name, "native-avx2") == 0 && __builtin_cpu_supports("avx2")) return sweep_avx2;
  if (strcmp(name, "native-sse41") == 0 && __builtin_cpu_supports("sse4.1")) return sweep_sse41;
#elif defined(__aarch64__)
  if (strcmp(name, "native-neon") == 0) return sweep_neon;
#endif
  return NULL;
}

int main(void) {
  char name[32];
  struct job job;
  uint32_t from, to, *words = (uint32_t *)&job;
  while (scanf("%31s %u %u", name, &from, &to) == 3) {
    for (size_t i = 0; i < sizeof job / sizeof *words; i++) {
      if (scanf("%u", &words[i]) != 1) return 1;
    }
    sweep_function *sweep = named(name);
    if (sweep == NULL) puts("none");
    else printf("%u\n", sweep(&job, from, to));
  }
  return 0;
}
