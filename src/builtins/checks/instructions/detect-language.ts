/**
 * The languages of a text by their codes of ISO 639-1, with how much of it is in each, from 0 to 1; the first has most.
 * Undefined of a text with too few words. Of a long text twenty places are looked at.
 */
export async function detectLanguages(text: string): Promise<ReadonlyMap<string, number> | undefined> {
  const { eld } = await import('eld/small');
  const letters = new Map<string, number>();
  let total = 0;
  for (const place of placesOf(text)) {
    // Written in capitals it is the same language.
    const { language } = eld.detect(place.toLowerCase());
    if (language === '') continue;
    letters.set(language, (letters.get(language) ?? 0) + place.length);
    total += place.length;
  }
  const byShare = [...letters].toSorted(([, one], [, other]) => other - one);
  return total === 0 ? undefined : new Map(byShare.map(([code, count]) => [code, count / total]));
}

/** The detector looks at no more of a text than this. */
const PLACE_LENGTH = 900;
const MOST_PLACES = 20;

function placesOf(text: string): string[] {
  const count = Math.min(MOST_PLACES, Math.ceil(text.length / PLACE_LENGTH));
  const distance = count < MOST_PLACES ? PLACE_LENGTH : Math.floor(text.length / count);
  return Array.from({ length: count }, (_, at) =>
    text.slice(at * distance, at * distance + PLACE_LENGTH).replaceAll(/\s+/gu, ' '),
  );
}

/** The code without a region: of `pt-BR` it is `pt`. */
export function languageOf(code: unknown): string {
  return String(code).split('-', 1)[0] ?? '';
}

/** The schema of a code. */
export const codeSchema = { type: 'string', pattern: '^[a-z]{2}(-[A-Za-z]{2,4})?$' } as const;
