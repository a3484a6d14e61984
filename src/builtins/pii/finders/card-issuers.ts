/** A range of issuers: first and last prefix, and the lengths of their card numbers. */
type Range = readonly [first: number, last: number, lengths: readonly number[]];

/** Prefixes that identify an issuer of cards (ISO/IEC 7812), as the card schemes publish them. */
const issuerRanges: readonly Range[] = [
  [4, 4, [16, 19]],
  [51, 55, [16]],
  [2221, 2720, [16]],
  [34, 34, [15]],
  [37, 37, [15]],
  [300, 305, [14]],
  [3095, 3095, [14]],
  [36, 36, [14]],
  [38, 39, [14]],
  [3528, 3589, [16, 17, 18, 19]],
  [1800, 1800, [15]],
  [2131, 2131, [15]],
  [6011, 6011, [16, 19]],
  [644, 649, [16, 19]],
  [65, 65, [16, 19]],
  [62, 62, [16, 17, 18, 19]],
  [81, 82, [16, 19]],
  [60, 60, [16]],
  [508, 508, [16]],
  [2200, 2204, [16, 17, 18, 19]],
  [9792, 9792, [16]],
  [506099, 506198, [16, 19]],
  [5018, 5018, [12, 13, 14, 15, 16, 17, 18, 19]],
  [5020, 5020, [12, 13, 14, 15, 16, 17, 18, 19]],
  [5038, 5038, [12, 13, 14, 15, 16, 17, 18, 19]],
  [5893, 5893, [12, 13, 14, 15, 16, 17, 18, 19]],
  [6304, 6304, [12, 13, 14, 15, 16, 17, 18, 19]],
  [6759, 6759, [12, 13, 14, 15, 16, 17, 18, 19]],
  [6761, 6763, [12, 13, 14, 15, 16, 17, 18, 19]],
  [604, 604, [16]],
];

/** Ranges so wide, or lengths so common among other numbers, that the text must speak of a card. */
const rangesNeedingLabel: readonly Range[] = [
  [4, 4, [13]],
  [35, 35, [16]],
  [50, 50, [12, 13, 14, 15, 16, 17, 18, 19]],
  [56, 69, [12, 13, 14, 15, 16, 17, 18, 19]],
  [36, 36, [15, 16, 17, 18, 19]],
];

/**
 * Whether a number can be a card of an issuer; with `once`, of a range that counts only beside a word for
 * cards.
 */
export function isIssued(digits: string, among: 'current' | 'once' = 'current'): boolean {
  return (among === 'current' ? issuerRanges : rangesNeedingLabel).some(([first, last, lengths]) => {
    const prefix = Number(digits.slice(0, String(first).length));
    return prefix >= first && prefix <= last && lengths.includes(digits.length);
  });
}
