/** `*` matches any characters, `?` one. Takes linear space, and time proportional to the product of both lengths. */
export function matchesGlob(pattern: string, text: string): boolean {
  let at = 0;
  let inPattern = 0;
  // Where to resume after a mismatch: the last `*` then takes one more character.
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

/** Whether some text matches both patterns. Takes time proportional to the product of both lengths. */
export function mayBothMatch(one: string, other: string): boolean {
  let below: readonly boolean[] = [];
  for (let here = one.length; here >= 0; here -= 1) {
    const row: boolean[] = new Array<boolean>(other.length + 1).fill(false);
    for (let there = other.length; there >= 0; there -= 1) {
      const [first, second] = [one[here], other[there]];
      if (first === undefined && second === undefined) row[there] = true;
      else if (first === '*') row[there] = below[there] === true || row[there + 1] === true;
      else if (second === '*') row[there] = row[there + 1] === true || below[there] === true;
      else row[there] = isSameSign(first, second) && below[there + 1] === true;
    }
    below = row;
  }
  return below[0] === true;
}

function isSameSign(first: string | undefined, second: string | undefined): boolean {
  if (first === undefined || second === undefined) return false;
  return first === second || first === '?' || second === '?';
}
