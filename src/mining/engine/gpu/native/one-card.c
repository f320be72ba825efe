/*
 * A Vulkan layer that shows one card and hides all others. NEWCUT_VULKAN_CARD is the number of the card, in the order
 * of the loader. Dawn finds cards only by name. If names cannot tell cards apart, the child process of each card uses
 * this layer and sees no other card (identical.ts). build.js compiles it, and VK_INSTANCE_LAYERS makes the loader load
 * it.
 *
 * It declares the used parts of vulkan_core.h and vk_layer.h itself, so it needs no headers. Enumerations and VkResult
 * have 32 bits; instances and cards are pointers.
 */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int32_t result;
typedef void (*function)(void);
typedef function proc_getter(void *instance, const char *name);
typedef result instance_creator(const void *info, const void *allocator, void **instance);
typedef result card_lister(void *instance, uint32_t *count, void **cards);

enum { SUCCESS = 0, INCOMPLETE = 5, INITIALIZATION_FAILED = -3 };
/* Structure type and function of the entry with the next layer. */
enum { LOADER_INSTANCE_CREATE_INFO = 47, LAYER_LINK_INFO = 0 };
enum { INTERFACE_VERSION = 2, MAX_CARDS = 64 };

/* The beginning of every structure. */
struct entry {
  int32_t type;
  const struct entry *next;
};

/* VkLayerInstanceLink */
struct layer_link {
  struct layer_link *next;
  proc_getter *get_proc;
  proc_getter *get_card_proc;
};

/* VkLayerInstanceCreateInfo */
struct link_entry {
  struct entry entry;
  int32_t function;
  struct layer_link *link;
};

/* VkNegotiateLayerInterface */
struct negotiation {
  struct entry entry;
  uint32_t version;
  proc_getter *get_proc;
  proc_getter *get_device_proc;
  proc_getter *get_card_proc;
};

/* Functions of the next layer or the loader, the same for all instances of a process. */
static proc_getter *next_proc;
static card_lister *next_list_cards;

static result create_instance(const struct entry *info, const void *allocator, void **instance) {
  for (const struct entry *entry = info->next; entry != NULL; entry = entry->next) {
    struct link_entry *found = (struct link_entry *)entry;
    if (entry->type != LOADER_INSTANCE_CREATE_INFO || found->function != LAYER_LINK_INFO) continue;
    next_proc = found->link->get_proc;
    /* The next layer reads its own successor from the same place. */
    found->link = found->link->next;
    result outcome = ((instance_creator *)next_proc(NULL, "vkCreateInstance"))(info, allocator, instance);
    /* Look it up now: later the loader may return the first layer's function, list_cards (version 1.3.239 does). */
    if (outcome == SUCCESS) next_list_cards = (card_lister *)next_proc(*instance, "vkEnumeratePhysicalDevices");
    return outcome;
  }
  return INITIALIZATION_FAILED;
}

/* vkEnumeratePhysicalDevices: if `shown` is NULL, only the count is requested. An unknown number shows no card. */
static result list_cards(void *instance, uint32_t *count, void **shown) {
  void *cards[MAX_CARDS];
  uint32_t all = MAX_CARDS;
  result outcome = next_list_cards(instance, &all, cards);
  if (outcome < 0) return outcome;
  const char *wanted = getenv("NEWCUT_VULKAN_CARD");
  unsigned long number = wanted == NULL ? MAX_CARDS : strtoul(wanted, NULL, 10);
  uint32_t room = shown == NULL ? 1 : *count;
  *count = number < all && room > 0 ? 1 : 0;
  if (number < all && room == 0) return INCOMPLETE;
  if (shown != NULL && *count == 1) shown[0] = cards[number];
  return SUCCESS;
}

static function get_proc(void *instance, const char *name) {
  if (strcmp(name, "vkGetInstanceProcAddr") == 0) return (function)get_proc;
  if (strcmp(name, "vkCreateInstance") == 0) return (function)create_instance;
  if (strcmp(name, "vkEnumeratePhysicalDevices") == 0) return (function)list_cards;
  return next_proc == NULL ? NULL : next_proc(instance, name);
}

__attribute__((visibility("default"))) result vkNegotiateLoaderLayerInterfaceVersion(struct negotiation *offer) {
  if (offer->version < INTERFACE_VERSION) return INITIALIZATION_FAILED;
  offer->version = INTERFACE_VERSION;
  offer->get_proc = get_proc;
  offer->get_device_proc = NULL;
  offer->get_card_proc = NULL;
  return SUCCESS;
}
