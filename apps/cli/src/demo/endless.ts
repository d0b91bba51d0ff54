/** An agent's program that does not end, as they sometimes do. */
export const ENDLESS = `primes, n = [2], 3
while True:                       # nobody has told it when to stop
    if all(n % p for p in primes):
        primes.append(n)
    n += 2
`;

/** What it may burn before it is stopped. */
export const ENDLESS_FUEL = 400_000_000;
