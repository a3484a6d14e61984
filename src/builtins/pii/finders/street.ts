import type { Finding } from '../finding.ts';
import type { ScannedText } from '../scanned-text.ts';

/** Street addresses by their shape: a house number and a street word in one of many languages, flats, boxes. */
export function* findStreets({ text }: ScannedText): Generator<Finding> {
  for (const pattern of [numberFirst, numberLast, between, unit, military]) {
    for (const { 0: written, index } of text.matchAll(pattern)) {
      yield { entity: 'STREET_ADDRESS', start: index, end: index + written.length, isConfirmed: false };
    }
  }
}

const name = "\\p{Lu}[\\p{L}\\p{M}'’.-]{0,30}";
const street =
  '(?:street|str|st|avenue|ave|av|road|rd|boulevard|blvd|lane|ln|drive|dr|court|ct|place|pl|square|sq|terrace|way|highway|hwy|parkway|pkwy|crescent|close|row|walk|mews|alley|circle|trail|pass|bypass|bridge|turnpike|crossroad|extension)s?';
const suffixed =
  '\\p{L}{2,30}(?:stra(?:ß|ss|sz)e|str\\.|stra?at|gasse|weg|platz|allee|gatan?|gade|v[äe]gen|vegen|veien?|vej|gata|plein|laan|kade|dijk|katu|tie|kuja|polku|tänav|braut|götu|stíg(?:ur)?|stræde|bakken|allé|utca|tér|ulice)';
const prefixed =
  '(?:ul\\.|al\\.|rue|rua|via|viale|piazza|calle|avenida|avda\\.?|paseo|plaza|camino|carrer|avenue|boulevard|chemin|place|quai|ulica|trg|av\\.|strada|corso|largo|travessa|praça)';

/** 12 Main Street, 31 Rue de Tanger. */
const numberFirst = new RegExp(
  `(?<![\\p{L}\\d.,/-])\\d{1,5}[A-Za-z]?(?:,? \\d{1,5})?,? (?:${name} ){1,4}${street}(?![\\p{L}\\d])\\.?(?:,? ?(?:suite|apt\\.?|unit|#) ?\\d{1,5})?|(?<![\\p{L}\\d])\\d{1,5},? ${prefixed} (?:[\\p{L}'’-]{1,20} ){0,4}[\\p{L}'’-]{1,30}`,
  'giu',
);
/** Hauptstraße 12, Via Roma 5, Baker Street 221b. */
const numberLast = new RegExp(
  `(?<![\\p{L}\\d])(?:\\d{1,5},? )?(?:${suffixed}|${prefixed} (?:[\\p{L}'’.-]{1,20} ){0,4}[\\p{L}'’.-]{1,30}|(?:${name} ){1,3}(?:u\\.|út|utca|tér|${street}))\\.? \\d{1,5}[A-Za-z]?(?![\\p{L}\\d])`,
  'giu',
);
/** 4844 Søndergade 52, at the end of a line or before a flat. */
const between = new RegExp(
  `(?<![\\p{L}\\d.,/-])\\d{2,5} (?:${name} ){1,3}\\d{1,4}(?=\\s*(?:,|\\n|$|suite|apt))`,
  'gu',
);
const unit =
  /(?<!\p{L})(?:suite|apt\.?|apartment|flat|unit) ?#?\d{1,5}[a-z]?(?![\p{L}\d])|(?<!\p{L})(?:p\.? ?o\.? box|postbox|postfach|psc|box) \d{1,6}(?!\d)/giu;
const military = /(?<!\p{L})(?:apo|fpo|dpo) (?:aa|ae|ap) \d{5}(?!\d)/giu;
