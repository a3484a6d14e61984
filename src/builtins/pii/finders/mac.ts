import type { Finding } from '../finding.ts';
import type { ScannedText } from '../scanned-text.ts';

/** Hardware addresses of six bytes, in pairs or in Cisco's groups of four; longer rows of pairs are fingerprints. */
export function* findMacAddresses({ text }: ScannedText): Generator<Finding> {
  for (const pattern of [pairs, quads]) {
    for (const { 0: written, index } of text.matchAll(pattern)) {
      if (/^([0f])\1([:-]\1\1)*$/i.test(written)) continue;
      yield { entity: 'MAC_ADDRESS', start: index, end: index + written.length, isConfirmed: true };
    }
  }
}

const pairs =
  /(?<![\da-zA-Z]|(?<![\da-zA-Z])[\da-fA-F]{2}[:-])[\da-fA-F]{2}([:-])(?:[\da-fA-F]{2}\1){4}[\da-fA-F]{2}(?![:-]?[\da-zA-Z])/g;
const quads = /(?<![\da-zA-Z.])[\da-fA-F]{4}\.[\da-fA-F]{4}\.[\da-fA-F]{4}(?!\.?[\da-zA-Z])/g;
