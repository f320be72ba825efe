/*
 * Sends lines to many sockets in one call, with several threads: `sendAll(descriptors, pieces, bytes, sent, threads)`.
 * The system needs about 10 microseconds per write, so one thread would take a tenth of a second to send new work to
 * 10,000 rigs. The caller blocks during the call, so no descriptor is closed while threads use it. Writes never block:
 * bytes that the network does not accept at once are left to the caller. build.js compiles this file.
 */

#include <errno.h>
#include <node_api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum { MAX_THREADS = 16, AT_ONCE = 64 };

/* macOS has no such flag; Node.js ignores the signal on all systems. */
#if !defined(MSG_NOSIGNAL)
#define MSG_NOSIGNAL 0
#endif

/* A piece is the start and the number of its bytes. */
struct order {
  const int32_t *descriptors;
  const uint32_t (*pieces)[2];
  const uint8_t *bytes;
  int32_t *sent;
  size_t count;
  atomic_size_t next;
};

static void *send_some(void *argument) {
  struct order *order = argument;
  for (;;) {
    const size_t from = atomic_fetch_add(&order->next, AT_ONCE);
    if (from >= order->count) return NULL;
    const size_t end = from + AT_ONCE < order->count ? from + AT_ONCE : order->count;
    for (size_t i = from; i < end; i++) {
      const uint32_t *piece = order->pieces[i];
      ssize_t result;
      do result = send(order->descriptors[i], order->bytes + piece[0], piece[1], MSG_DONTWAIT | MSG_NOSIGNAL);
      while (result < 0 && errno == EINTR);
      order->sent[i] = result < 0 ? 0 : (int32_t)result;
    }
  }
}

static bool view_of(napi_env env, napi_value value, napi_typedarray_type wanted, void **data, size_t *length) {
  napi_typedarray_type type;
  return napi_get_typedarray_info(env, value, &type, length, data, NULL, NULL) == napi_ok && type == wanted;
}

/* Whether all pieces are within the bytes. */
static bool is_within(const struct order *order, size_t length) {
  for (size_t i = 0; i < order->count; i++) {
    if (order->pieces[i][0] > length || order->pieces[i][1] > length - order->pieces[i][0]) return false;
  }
  return true;
}

/* (descriptors: Int32Array, pieces: Uint32Array, bytes: Uint8Array, sent: Int32Array, threads: number) => void */
static napi_value send_all(napi_env env, napi_callback_info info) {
  napi_value arguments[5];
  size_t count = 5, descriptors, pieces, length, sent;
  uint32_t threads;
  struct order order = {0};
  if (napi_get_cb_info(env, info, &count, arguments, NULL, NULL) != napi_ok ||
      !view_of(env, arguments[0], napi_int32_array, (void **)&order.descriptors, &descriptors) ||
      !view_of(env, arguments[1], napi_uint32_array, (void **)&order.pieces, &pieces) ||
      !view_of(env, arguments[2], napi_uint8_array, (void **)&order.bytes, &length) ||
      !view_of(env, arguments[3], napi_int32_array, (void **)&order.sent, &sent) ||
      napi_get_value_uint32(env, arguments[4], &threads) != napi_ok || threads < 1 || threads > MAX_THREADS ||
      pieces != 2 * descriptors || sent != descriptors || (order.count = descriptors, !is_within(&order, length))) {
    napi_throw_type_error(env, NULL, "expected descriptors, a piece and a result for each, and 1 to 16 threads");
    return NULL;
  }
  pthread_t others[MAX_THREADS];
  uint32_t started = 0;
  while (started + 1 < threads && pthread_create(&others[started], NULL, send_some, &order) == 0) started++;
  send_some(&order);
  for (uint32_t i = 0; i < started; i++) pthread_join(others[i], NULL);
  return NULL;
}

NAPI_MODULE_INIT() {
  napi_value function;
  if (napi_create_function(env, "sendAll", NAPI_AUTO_LENGTH, send_all, NULL, &function) == napi_ok) {
    napi_set_named_property(env, exports, "sendAll", function);
  }
  return exports;
}
