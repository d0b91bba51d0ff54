/** Tells what is being done, and remembers how long each step took. Between two steps it can be stopped. */
export function createProgress({ onStep = () => {}, signal } = {}) {
  const begun = performance.now();
  const steps = [];
  const secondsSince = (instant) => Math.round((performance.now() - instant) / 100) / 10;

  return {
    steps,
    totalSeconds: () => secondsSince(begun),

    async step(name, work) {
      signal?.throwIfAborted();
      onStep(name, secondsSince(begun));
      const started = performance.now();
      const result = await work();
      signal?.throwIfAborted();
      steps.push({ name, seconds: secondsSince(started) });
      return result;
    },
  };
}
