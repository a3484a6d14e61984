import type { Finding } from '../finding.ts';
import type { ScannedText } from '../scanned-text.ts';

/** Blocks of private keys in PEM; one that is cut off reaches to the end of the text. */
export function* findPrivateKeys({ text }: ScannedText): Generator<Finding> {
  for (let at = text.indexOf(opener); at !== -1; ) {
    const head = /^-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/.exec(text.slice(at, at + 90))?.[0];
    if (head === undefined) {
      at = text.indexOf(opener, at + opener.length);
      continue;
    }
    const end = endOfBlock(text, at + head.length);
    yield { entity: 'PRIVATE_KEY', start: at, end, isConfirmed: true };
    at = text.indexOf(opener, end);
  }
}

const opener = '-----BEGIN ';

function endOfBlock(text: string, from: number): number {
  const closer = text.indexOf('-----END ', from);
  if (closer === -1) return text.length;
  const line = /^-----END [A-Z0-9 ]{0,60}-----/.exec(text.slice(closer, closer + 80))?.[0];
  return closer + (line ?? '-----END ').length;
}
