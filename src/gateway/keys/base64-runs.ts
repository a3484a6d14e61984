/** How many characters of a text stand in runs of Base64 that are at least 1,024 long: pictures and files, hardly ever words. */
export function countBase64(text: string): number {
  let count = 0;
  // A run that long covers one of these places at least.
  for (let at = 0; at < text.length; at += SHORTEST_RUN) {
    if (!isDigit(text.charCodeAt(at))) continue;
    const start = endOfRun(text, at, -1) + 1;
    const end = endOfRun(text, at, 1);
    if (end - start < SHORTEST_RUN) continue;
    count += end - start;
    // The next place to look at is the first one behind it.
    at = end - (end % SHORTEST_RUN);
  }
  return count;
}

const SHORTEST_RUN = 1024;

/** The first place from there on, in that direction, that is no digit of Base64. */
function endOfRun(text: string, from: number, step: 1 | -1): number {
  let at = from;
  while (at >= 0 && at < text.length && isDigit(text.charCodeAt(at))) at += step;
  return at;
}

function isDigit(code: number): boolean {
  return digits[code] === 1;
}

const digits = new Uint8Array(128);
for (const digit of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=') {
  digits[digit.charCodeAt(0)] = 1;
}
