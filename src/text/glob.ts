/** Whether a text is what a pattern says, in which `*` stands for any characters and `?` for one. Takes linear space, and time by both lengths. */
export function matchesGlob(pattern: string, text: string): boolean {
  let at = 0;
  let inPattern = 0;
  // Where to go on when what follows the last `*` does not fit: it takes one more character then.
  let star = -1;
  let taken = 0;
  while (at < text.length) {
    const wanted = pattern[inPattern];
    if (wanted === '*') {
      star = inPattern;
      taken = at;
      inPattern += 1;
    } else if (wanted !== undefined && (wanted === '?' || wanted === text[at])) {
      inPattern += 1;
      at += 1;
    } else if (star === -1) return false;
    else {
      taken += 1;
      at = taken;
      inPattern = star + 1;
    }
  }
  return /^\**$/.test(pattern.slice(inPattern));
}
