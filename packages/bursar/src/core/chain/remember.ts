const MAX_KEYS = 1024;
const MAX_KEY_LENGTH = 200;

/**
 * Remembers what a function of a string gave. Names recur from link to link, and looking one up is several times faster
 * than quoting it again. The memory is bounded: when it is full it starts anew, so strange names cannot fill it for good.
 */
export function remember<T>(make: (key: string) => T): (key: string) => T {
  const known = new Map<string, T>();
  return (key) => {
    const value = known.get(key);
    if (value !== undefined) return value;
    const made = make(key);
    if (key.length <= MAX_KEY_LENGTH) {
      if (known.size >= MAX_KEYS) known.clear();
      known.set(key, made);
    }
    return made;
  };
}
