/** Tells a person on stderr what is being done, and remembers how long each step took. */
export function createProgress() {
  const begun = performance.now();
  const steps = [];
  const secondsSince = (instant) => Math.round((performance.now() - instant) / 100) / 10;

  return {
    steps,
    totalSeconds: () => secondsSince(begun),

    async step(name, work) {
      process.stderr.write(`${secondsSince(begun).toFixed(1).padStart(7)} s  ${name}\n`);
      const started = performance.now();
      const result = await work();
      steps.push({ name, seconds: secondsSince(started) });
      return result;
    },
  };
}
