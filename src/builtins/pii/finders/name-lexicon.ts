import { isObject } from '../../../base/json/json.ts';
import { libraries } from '../lazy-libraries.ts';

export type WordKind = 'first' | 'last' | 'place' | 'organization' | 'common' | undefined;

export interface Lexicon {
  kindOf(word: string): WordKind;
}

let lexicon: Lexicon | undefined;

/** Combines compromise's word list with the world's countries in English; loaded on first use. */
export function openLexicon(): Lexicon {
  lexicon ??= readLexicon();
  return lexicon;
}

function readLexicon(): Lexicon {
  const kinds = new Map<string, WordKind>(countries().map((name) => [name.toLowerCase(), 'place']));
  const model: unknown = libraries.language().model();
  const one = isObject(model) ? model['one'] : undefined;
  const words = isObject(one) ? one['lexicon'] : undefined;
  for (const [word, tags] of Object.entries(isObject(words) ? words : {})) kinds.set(word, kindOfTags(tags));
  for (const word of commonWords) kinds.set(word, 'common');
  return { kindOf: (word) => kinds.get(word.toLowerCase().replaceAll('’', "'")) };
}

function kindOfTags(tags: unknown): WordKind {
  const list = [tags].flat().map(String);
  const has = (...names: readonly string[]) => list.some((tag) => names.includes(tag));
  if (has('MaleName', 'FemaleName', 'FirstName', 'Person')) return 'first';
  if (has('LastName')) return 'last';
  if (has('City', 'Country', 'Region', 'Place')) return 'place';
  return has('Organization', 'SportsTeam', 'Company', 'School') ? 'organization' : 'common';
}

function countries(): string[] {
  const names = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
  return letters.flatMap((one) => letters.flatMap((two) => names.of(one + two) ?? []));
}

/** Capitalized words of forms, headings and sentence starts that the list lacks. */
const commonWords = (
  'account action address adventure album animation answer apartment application april army association attorney august ' +
  'avenue bank best billing bill birthday board book bot box building business can card center centre chapter civil class ' +
  'club code college comedy committee company contact corner country course court customer customers data date day dear december ' +
  'department desk details device directed director district dog doctor drive east email energetic english error ' +
  'family fax february file film first foundation friday from fund general global good government grand great group head ' +
  'hello help her here hey hi high hill his history home hospital hotel hours house how human hundred information institute international ' +
  'invoice island issue january job july june kids king ladies lake law legal letter life live looking love manager march ' +
  'market may me media meet meeting member message mobile monday money month more morning mother movie museum music my mystery ' +
  'name names national network new news night north note notes november number october office official one online open ' +
  'order our page park party password payment personal phone place plan please policy position post president press ' +
  'private product program project public question rate real record regards report request research resume return review right ' +
  'road rock room sales saturday school science second secretary section security september series service services session she ' +
  'shop sir site social society song south spring staff star state station store street student subject suite summary sunday ' +
  'support suspense system systems team tech technical test thank thanks the their there they this thursday ticket time title today ' +
  'tomorrow total town train transfer travel tuesday two type unit university update user version video village ' +
  'visit was water we web website wednesday week welcome west what when where who why wife will winter word work world ' +
  'year years yes yesterday you young your zip'
).split(' ');
