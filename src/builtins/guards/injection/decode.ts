/** Longer stretches are files. */
const LONGEST = 20_000;

/** What encoded stretches of a text spell: base64, hexadecimal and percent digits. In linear time. */
export function* decodedTexts(text: string): Generator<string> {
  for (const [run] of text.matchAll(/[A-Za-z0-9+/_-]{20,}={0,2}/g)) {
    if (run.length > LONGEST) continue;
    const bytes = /^[0-9a-f]+$/i.test(run) && run.length % 2 === 0 ? Buffer.from(run, 'hex') : undefined;
    for (const decoded of [bytes, Buffer.from(run, 'base64')]) {
      const spelled = decoded && readText(decoded);
      if (spelled !== undefined) yield spelled;
    }
  }
  for (const [run] of text.matchAll(/(?:[\da-f]{2}[ :]){12,}/gi)) {
    const spelled = readText(Buffer.from(run.slice(0, LONGEST).replaceAll(/[ :]/g, ''), 'hex'));
    if (spelled !== undefined) yield spelled;
  }
  if (/%[\da-f]{2}/i.test(text)) {
    yield text.replaceAll(/(?:%[\da-f]{2})+/gi, (run) =>
      Buffer.from(run.replaceAll('%', ''), 'hex').toString('utf8'),
    );
  }
}

/** Bytes as text; undefined where they are none. */
function readText(bytes: Buffer): string | undefined {
  const text = bytes.toString('utf8');
  const letters = text.match(/[\p{L}\p{N}\s.,:;!?'"()-]/gu)?.length ?? 0;
  return text.length >= 8 && letters >= text.length * 0.9 ? text : undefined;
}

/** The same words by another alphabet: rotated by 13 letters, and backwards. */
export function disguisesOf(words: string): readonly string[] {
  const rotated = words.replaceAll(
    /[a-z]/g,
    (letter) => alphabet[(letter.charCodeAt(0) - 84) % 26] ?? letter,
  );
  return [rotated, [...words].toReversed().join('')];
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz';
