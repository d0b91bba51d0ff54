/**
 * By how much costs that answers stated were higher than what they were priced at: as the most of all amounts, and as the largest share of
 * the least that such a request is quoted at. Quotes are raised by whichever is less. The amount bounds a fee for each request, which is a
 * large share of a small one; the share bounds a percentage, which is a large amount of a large request.
 */
export interface Extra {
  /** Billionths of a dollar. */
  readonly nano: bigint;
  readonly share: Share;
}

/** So many billionths of a dollar more for so many. Of 0 there is no share, and the amount alone counts. */
interface Share {
  readonly nano: bigint;
  readonly of: bigint;
}

/** So many billionths of a dollar on top of a request that was quoted at so many at least. */
export function extraOf(nano: bigint, least_nano: bigint): Extra {
  return { nano, share: nano === 0n ? { nano, of: 1n } : { nano, of: least_nano } };
}

export function largerExtra(one: Extra, other: Extra): Extra {
  return {
    nano: one.nano > other.nano ? one.nano : other.nano,
    share: one.share.nano * other.share.of > other.share.nano * one.share.of ? one.share : other.share,
  };
}

/** What is added to a price. */
export function addedTo(priced_nano: bigint, { nano, share }: Extra): bigint {
  if (share.of === 0n) return nano;
  // Rounded up.
  const part = (priced_nano * share.nano + share.of - 1n) / share.of;
  return part < nano ? part : nano;
}

/** The most that a price may come to, so that it stays within a sum with what is added to it; below 0 where nothing fits. */
export function mostWithout(total_nano: bigint, { nano, share }: Extra): bigint {
  const flat = total_nano - nano;
  if (share.of === 0n) return flat;
  const part = (total_nano * share.of) / (share.of + share.nano);
  return part > flat ? part : flat;
}
