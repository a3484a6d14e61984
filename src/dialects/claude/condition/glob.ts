/** Whether a text matches a pattern in which `*` stands for any characters. At most length times length steps. */
export function matchesGlob(pattern: string, text: string): boolean {
  let star = -1;
  let resume = 0;
  let at = 0;
  let to = 0;
  while (to < text.length) {
    if (pattern[at] === '*') {
      star = at;
      resume = to;
      at += 1;
    } else if (at < pattern.length && (pattern[at] === text[to] || pattern[at] === '?')) {
      at += 1;
      to += 1;
    } else if (star === -1) {
      return false;
    } else {
      // The last star takes one character more; earlier ones need never change.
      at = star + 1;
      resume += 1;
      to = resume;
    }
  }
  while (pattern[at] === '*') at += 1;
  return at === pattern.length;
}
