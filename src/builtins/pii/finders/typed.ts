export type Typed = 'strong' | 'weak' | undefined;

/** ASCII words with digits or signs that are not an address, file, version, number or technical term. */
export function typedKind(word: string): Typed {
  if (!/^[!-~]{6,64}$/.test(word) || !/[A-Za-z]/.test(word)) return undefined;
  if (known.test(word) || isTechnicalTerm(word)) return undefined;
  const hasDigit = /\d/.test(word);
  const isMixed = /[a-z]/.test(word) && /[A-Z]/.test(word);
  if (/[!#$%&*+=?@^~](?!$)|[#$%&*+=@^~]$/.test(word) && (hasDigit || isMixed)) return 'strong';
  if (!hasDigit) return undefined;
  return /\d[A-Za-z]|[A-Za-z][._-]+[A-Za-z]/.test(word) ? 'strong' : 'weak';
}

export function isTechnicalTerm(word: string): boolean {
  return technical.test(word);
}

const technical =
  /^(?:sha|md|aes|wpa|tls|ssl|utf|ipv|oauth|pbkdf|base|argon|https?|x|iso|rfc|cve|rsa|ed|des|hmac|nist|windows|win|office|log4j|covid)[-_]?\d/i;

const known = new RegExp(
  [
    String.raw`^[\w.+-]+@[\w-]+\.\w|:\/\/|^www\.|\/|\\|\(\)|^[<{[$%]|[>}\]]$`,
    String.raw`\.[a-z]{2,5}$|^v?\d+(?:\.\d+)+|^\d+(?:st|nd|rd|th)?-?[a-z]+$|^\d+[a-z]{1,3}\d*$|^\d[\d:.,-]*[a-z]{0,3}$`,
    String.raw`^[A-Z]+[-_]?\d[\d.-]*[A-Z]{0,2}$`,
    String.raw`^[\w.-]+=`,
  ].join('|'),
  'u',
);
/**
 * Shannon entropy in bits per character: words have about 2.5 to 3.3, random keys of at least 20 characters over 3.5.
 */
export function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  const { length } = [...text];
  return [...counts.values()].reduce((sum, count) => sum - (count / length) * Math.log2(count / length), 0);
}
