/** How many characters two texts have in common at their beginnings. */
export function sharedPrefixLength(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return at;
}
