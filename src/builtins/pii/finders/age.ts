import type { Finding } from '../finding.ts';
import type { ScannedText } from '../scanned-text.ts';

/** The number of years in "79 years old", "aged 31" and the like. */
export function* findAges({ text }: ScannedText): Generator<Finding> {
  for (const pattern of [before, after]) {
    for (const match of text.matchAll(pattern)) {
      const [whole, years = ''] = match;
      if (Number(years) > 120) continue;
      const start = match.index + whole.indexOf(years, pattern === after ? whole.length - years.length : 0);
      yield { entity: 'AGE', start, end: start + years.length, isConfirmed: false };
    }
  }
}

const before =
  /(?<![\d.,/-])(\d{1,3})[ -]?(?:years?|yrs?|y\/?\.?o\.?)[ -]?(?:old|of age|young)?(?=[^\p{L}\d]|$)(?<=old|age|young|y\/?\.?o\.?)/giu;
const after =
  /(?<!\p{L})(?:aged?|age is|age of|i am|i'm|he is|she is|turn|turned|turning|(?:when|while|because|as) (?:he|she|i) was)(?: only| now| just)?[ :]{1,3}(\d{1,3})(?=$|[.!?\n]|,? (?:and|but|so|years)\b)/giu;
