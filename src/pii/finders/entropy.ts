/** Shannon entropy in bits per character: words have about 2.5 to 3.3, random keys of 20 and more over 3.5. */
export function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  const { length } = [...text];
  return [...counts.values()].reduce((sum, count) => sum - (count / length) * Math.log2(count / length), 0);
}
