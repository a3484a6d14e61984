import { randomBytes } from 'node:crypto';
import type { CountryCode } from 'libphonenumber-js/max';
import { toRuntimeError } from '../../../base/errors.ts';
import { isObject } from '../../../base/json/json.ts';
import { tryParse } from '../../../base/json/parse.ts';
import { type Action, actions } from '../../pii/action.ts';
import { defaultEntities, type Entity, entityNames, isEntity } from '../../pii/entity.ts';
import { createPiiFilter } from '../../pii/filter.ts';
import { checksumNames, compileOwnPattern, type OwnPattern, ownName } from '../../pii/own-pattern.ts';
import {
  type PiiSettings,
  type RestorePlace,
  restorePlaces,
  type ScanPlace,
  scanPlaces,
} from '../../pii/settings.ts';
import {
  defineGuard,
  type GuardHost,
  type Options,
  oneOf,
  readAllowList,
  usageError,
} from '../program/options.ts';

export const guard = defineGuard({
  program: 'signalbox-pii',
  about: `Removes personal data and secrets from model and tool calls. Works as a provider or tool hook. Reads one JSON object
from stdin and answers on stdout. If the first line is JSON-RPC, it runs as a server (runtime: server).`,
  columns: [20, 25],
  options: {
    entities: ['list', 'LIST', 'which entities to look for (default: default)'],
    action: ['list', 'LIST', `${actions.join(', ')};\nfor one entity: EMAIL_ADDRESS=mask (default: redact)`],
    region: [
      'list',
      'LIST',
      'countries whose phone numbers need no country code (default: those\nthat the script of a text suggests)',
    ],
    pattern: [
      'values',
      'JSON',
      'an entity of your own: {"name", "pattern", "context", "checksum"}; may be\nrepeated; a list in the variable (spec.pii.patterns sets it)',
      'patterns',
    ],
    scan: ['list', 'LIST', `which texts to check: ${scanPlaces.join(', ')}\n(default: all)`],
    allow: [
      'lines',
      'VALUE',
      'an allowed value, or a /pattern/ that matches whole values; may be\nrepeated; one per line in the variable',
    ],
    restore: [
      'list',
      'LIST',
      'where to replace pseudonyms by the original values: answer, args, none\n(default: answer,args)',
    ],
    help: ['flag', '', 'show this help'],
    'key-file': ['text', 'FILE', 'file with the key of hashes and marks; created if it does not exist'],
    key: ['variable', '', 'the key itself; without one, each process creates its own'],
  },
  notes: () => `Entities:
  default  ${wrap(defaultEntities)}
  all      those and ${wrap(entityNames.filter((name) => !defaultEntities.includes(name)))}

In runtime.yaml:
  hooks:
    pii: {command: signalbox-pii, args: [--action, 'redact,CREDIT_CARD=block'], hook: provider, runtime: server}
`,
  read: (options, host): PiiSettings => {
    const patterns = options.values('pattern').flatMap((text) => {
      const value = tryParse(text);
      return (Array.isArray(value) ? value : [value]).map(readPattern);
    });
    const own = patterns.map(({ name }) => name);
    return {
      entities: readEntities(options.list('entities')),
      actions: readActions(options.list('action'), own),
      patterns,
      scan: readScan(options.list('scan')),
      regions: readRegions(options.list('region')),
      isAllowed: readAllowList(options.list('allow')),
      restore: readRestore(options.text('restore') === undefined ? restorePlaces : options.list('restore')),
      ...readKey(options, host),
    };
  },
  open: createPiiFilter,
});

function wrap(names: readonly string[]): string {
  const lines: string[] = [''];
  for (const name of names) {
    const line = lines.at(-1) ?? '';
    if (line.length + name.length > 90) lines.push(name);
    else lines[lines.length - 1] = line === '' ? name : `${line}, ${name}`;
  }
  return lines.join(',\n           ');
}

/**
 * Reads a shared key from a file or the environment; without one, makes a key for this process only. A key in the
 * environment wins over a file that the environment names.
 */
function readKey(
  options: Options<'key' | 'key-file'>,
  { openKey }: GuardHost,
): Pick<PiiSettings, 'key' | 'isKeyShared'> {
  const text = options.text('key');
  if (text !== undefined && !options.isArgument('key-file'))
    return { key: Buffer.from(text), isKeyShared: true };
  const file = options.text('key-file') ?? '';
  if (file === '') return { key: randomBytes(32), isKeyShared: false };
  try {
    return { key: openKey(file), isKeyShared: true };
  } catch (error) {
    throw usageError(
      `the key file is not usable: ${toRuntimeError(error).message}`,
      'Name a file in an existing folder.',
    );
  }
}

function readEntities(words: readonly string[]): readonly Entity[] {
  const named = words.flatMap((word): readonly Entity[] => {
    const name = word.toUpperCase();
    if (name === 'DEFAULT') return defaultEntities;
    if (name === 'ALL') return entityNames;
    if (isEntity(name)) return [name];
    throw usageError(`there is no entity "${word}"`, `Entities: ${entityNames.join(', ')}, default and all.`);
  });
  return named.length === 0 ? defaultEntities : [...new Set(named)];
}

/** `redact`, or `EMAIL_ADDRESS=mask`; a bare action applies to every other entity. */
function readActions(words: readonly string[], own: readonly string[]): Readonly<Record<Entity, Action>> {
  const overrides = new Map<Entity, Action>();
  let fallback: Action = 'redact';
  for (const word of words) {
    const [left = '', right] = word.split('=', 2);
    if (right === undefined) fallback = readAction(left);
    else overrides.set(readEntity(left, own), readAction(right));
  }
  const rows = [...entityNames, ...own].map((entity) => [entity, overrides.get(entity) ?? fallback]);
  return Object.fromEntries(rows);
}

function readEntity(word: string, own: readonly string[]): Entity {
  const name = word.toUpperCase();
  if (isEntity(name) || own.includes(name)) return name;
  throw usageError(`there is no entity "${word}"`, `Entities: ${[...own, ...entityNames].join(', ')}.`);
}

function readPattern(value: unknown): OwnPattern {
  const problem = (what: string) =>
    usageError(
      `a pattern ${what}`,
      'Give {"name": "EMPLOYEE_ID", "pattern": "EMP-\\d{6}", "context": ["employee"]}.',
    );
  if (!isObject(value)) throw problem('is not a JSON object');
  const { name, pattern, context, checksum, ...unknown } = value;
  const [stray] = Object.keys(unknown);
  if (stray !== undefined) throw problem(`has an unknown member "${stray}"`);
  if (typeof name !== 'string' || !ownName.test(name) || isEntity(name) || name === 'LITERAL')
    throw problem('needs a unique name of capital letters, digits and _');
  if (typeof pattern !== 'string') throw problem('needs a regular expression as "pattern"');
  const words = context === undefined ? [] : [context].flat();
  if (!words.every((word): word is string => typeof word === 'string' && word !== ''))
    throw problem('needs a word or a list of words as "context"');
  const check = checksumNames.find((known) => known === checksum);
  if (checksum !== undefined && check === undefined)
    throw problem(`needs one of ${checksumNames.join(', ')} as "checksum", or no checksum`);
  try {
    compileOwnPattern(pattern);
  } catch (error) {
    throw problem(`${name} is not valid: ${toRuntimeError(error).message}`);
  }
  return { name, pattern, context: words, checksum: check };
}

function readScan(words: readonly string[]): ReadonlySet<ScanPlace> | undefined {
  const places = words.map((word) => {
    const place = scanPlaces.find((candidate) => candidate === word.toLowerCase());
    if (place !== undefined) return place;
    throw usageError(`"${word}" is not a place that can be checked`, `Places: ${scanPlaces.join(', ')}.`);
  });
  return places.length === 0 ? undefined : new Set(places);
}

function readAction(word: string): Action {
  return oneOf('action', word.toLowerCase() === 'pseudonymize' ? 'pseudonymise' : word, actions);
}

function readRegions(words: readonly string[]): readonly CountryCode[] {
  const regions = words.map((word) => {
    const region = word.toUpperCase();
    if (isRegion(region)) return region;
    throw usageError(
      `there is no region "${word}"`,
      'A region is a country code of two letters, such as US or DE.',
    );
  });
  return regions;
}

/** The library's own list would take 50 ms to load. This one has every country and a few without phones. */
function isRegion(text: string): text is CountryCode {
  if (!/^[A-Z]{2}$/.test(text)) return false;
  return new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' }).of(text) !== undefined;
}

function readRestore(words: readonly string[]): ReadonlySet<RestorePlace> {
  const places = words.flatMap((word): readonly RestorePlace[] => {
    const place = restorePlaces.find((candidate) => candidate === word.toLowerCase());
    if (place !== undefined) return [place];
    if (word.toLowerCase() === 'none') return [];
    throw usageError(
      `"${word}" is not a place where values can be restored`,
      `Places: ${restorePlaces.join(', ')} and none.`,
    );
  });
  return new Set(places);
}
