import type { Finding } from '../finding.ts';
import type { ScannedText } from '../scanned-text.ts';

/** Postal codes where the text calls them so, and US ones behind the letters of a state. */
export function* findZipCodes({ text }: ScannedText): Generator<Finding> {
  for (const pattern of [labelled, american]) {
    for (const match of text.matchAll(pattern)) {
      const [whole, code = ''] = match;
      const end = match.index + whole.length;
      yield { entity: 'ZIP_CODE', start: end - code.length, end, isConfirmed: false };
    }
  }
}

const labelled =
  /(?<!\p{L})(?:zip|zip[ -]?code|post(?:al)?[ -]?code|postcode|plz|postleitzahl|code postal|código postal)(?: (?:is|was))?["']?[ :#=]{1,4}["']?(\d{3,5}(?:[- ]\d{2,4})?(?: [A-Z]{2})?|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[A-Z] ?\d[A-Z]\d)(?![\p{L}\d])/giu;
const american =
  /(?<!\p{L})(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[AT]|W[AIVY])[ ,]{1,2}(\d{5}(?:-\d{4})?)(?![\p{L}\d])/gu;
