import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import type { CountryCode } from 'libphonenumber-js/max';
import { RuntimeError, toRuntimeError } from '../../../base/errors.ts';
import { isObject } from '../../../base/json/json.ts';
import { tryParse } from '../../../base/json/try-parse.ts';
import { type Action, actions } from '../../pii/action.ts';
import { defaultEntities, type Entity, entityNames, isEntity } from '../../pii/entity.ts';
import { checksumNames, compileOwnPattern, type OwnPattern, ownName } from '../../pii/own-pattern.ts';
import {
  type PiiSettings,
  type RestorePlace,
  restorePlaces,
  type ScanPlace,
  scanPlaces,
} from '../../pii/settings.ts';
import { readAllowList } from '../program/allow-list.ts';
import { type GuardHost, nearOptionHint } from '../program/options.ts';

/** Reads settings from arguments, and from the environment for options that are not given. Throws USAGE. */
export function readSettings(
  args: readonly string[],
  { env, openKey }: Pick<GuardHost, 'env' | 'openKey'>,
): PiiSettings {
  const options = parse(args);
  const words = (option: 'entities' | 'action' | 'region' | 'restore' | 'scan'): readonly string[] => {
    const list = options[option] ?? [env[`SIGNALBOX_PII_${option.toUpperCase()}`] ?? ''];
    return list.flatMap((text) => text.split(/[\s,]+/)).filter((word) => word !== '');
  };
  const hasRestore = options.restore !== undefined || (env['SIGNALBOX_PII_RESTORE'] ?? '') !== '';
  const patterns = readPatterns(options.pattern ?? [], env);
  const own = patterns.map(({ name }) => name);
  return {
    entities: readEntities(words('entities')),
    actions: readActions(words('action'), own),
    patterns,
    scan: readScan(words('scan')),
    regions: readRegions(words('region')),
    isAllowed: readAllowList(options.allow ?? env['SIGNALBOX_PII_ALLOW']?.split('\n') ?? []),
    restore: readRestore(hasRestore ? words('restore') : restorePlaces),
    ...readKey(options['key-file'], { env, openKey }),
  };
}

/** The key of a file or of the environment, which other processes have as well; else one of this process alone. */
function readKey(
  given: string | undefined,
  { env, openKey }: Pick<GuardHost, 'env' | 'openKey'>,
): Pick<PiiSettings, 'key' | 'isKeyShared'> {
  const text = env['SIGNALBOX_PII_KEY'] ?? '';
  if (given === undefined && text !== '') return { key: Buffer.from(text), isKeyShared: true };
  const file = given ?? env['SIGNALBOX_PII_KEY_FILE'] ?? '';
  if (file === '') return { key: randomBytes(32), isKeyShared: false };
  try {
    return { key: openKey(file), isKeyShared: true };
  } catch (error) {
    throw usage(
      `the key file cannot be used: ${toRuntimeError(error).message}`,
      'Name a file in a folder that exists.',
    );
  }
}

const list = { type: 'string', multiple: true } as const;

function parse(args: readonly string[]) {
  const options = {
    entities: list,
    action: list,
    region: list,
    allow: list,
    restore: list,
    scan: list,
    pattern: list,
    'key-file': { type: 'string' },
  } as const;
  try {
    return parseArgs({ args: [...args], options }).values;
  } catch (error) {
    // Node's message names the argument and what to do.
    const message = error instanceof Error ? error.message.replace(/\.$/, '') : String(error);
    throw usage(message, nearOptionHint(message, Object.keys(options)));
  }
}

function readEntities(words: readonly string[]): readonly Entity[] {
  const named = words.flatMap((word): readonly Entity[] => {
    const name = word.toUpperCase();
    if (name === 'DEFAULT') return defaultEntities;
    if (name === 'ALL') return entityNames;
    if (isEntity(name)) return [name];
    throw usage(`there is no entity "${word}"`, `There are ${entityNames.join(', ')}, default and all.`);
  });
  return named.length === 0 ? defaultEntities : [...new Set(named)];
}

/** `redact`, or `EMAIL_ADDRESS=mask`; a bare action holds for every entity that is not named. */
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
  throw usage(`there is no entity "${word}"`, `There are ${[...own, ...entityNames].join(', ')}.`);
}

/** Patterns of `--pattern`, and of the variable that `spec.pii.patterns` of a runtime file becomes: JSON objects, or lists of them. */
function readPatterns(given: readonly string[], env: GuardHost['env']): readonly OwnPattern[] {
  const variable = env['SIGNALBOX_PII_PATTERNS'] ?? '';
  const texts = given.length > 0 || variable === '' ? given : [variable];
  return texts.flatMap((text) => {
    const value = tryParse(text);
    return (Array.isArray(value) ? value : [value]).map(readPattern);
  });
}

function readPattern(value: unknown): OwnPattern {
  const problem = (what: string) =>
    usage(
      `a pattern ${what}`,
      'Give {"name": "EMPLOYEE_ID", "pattern": "EMP-\\d{6}", "context": ["employee"]}.',
    );
  if (!isObject(value)) throw problem('is no JSON object');
  const { name, pattern, context, checksum, ...unknown } = value;
  const [stray] = Object.keys(unknown);
  if (stray !== undefined) throw problem(`has no "${stray}"`);
  if (typeof name !== 'string' || !ownName.test(name) || isEntity(name) || name === 'LITERAL')
    throw problem('needs a name of its own: capitals, digits and _');
  if (typeof pattern !== 'string') throw problem('needs a regular expression as "pattern"');
  const words = context === undefined ? [] : [context].flat();
  if (!words.every((word): word is string => typeof word === 'string' && word !== ''))
    throw problem('has words, or a list of them, as "context"');
  const check = checksumNames.find((known) => known === checksum);
  if (checksum !== undefined && check === undefined)
    throw problem(`has a checksum of ${checksumNames.join(', ')}, or none`);
  try {
    compileOwnPattern(pattern);
  } catch (error) {
    throw problem(`${name} cannot be used: ${toRuntimeError(error).message}`);
  }
  return { name, pattern, context: words, checksum: check };
}

/** Undefined: everything. */
function readScan(words: readonly string[]): ReadonlySet<ScanPlace> | undefined {
  const places = words.map((word) => {
    const place = scanPlaces.find((candidate) => candidate === word.toLowerCase());
    if (place !== undefined) return place;
    throw usage(`"${word}" is nothing that can be looked at`, `There are ${scanPlaces.join(', ')}.`);
  });
  return places.length === 0 ? undefined : new Set(places);
}

function readAction(word: string): Action {
  const name = word.toLowerCase() === 'pseudonymize' ? 'pseudonymise' : word.toLowerCase();
  const action = actions.find((candidate) => candidate === name);
  if (action !== undefined) return action;
  throw usage(`there is no action "${word}"`, `There are ${actions.join(', ')}.`);
}

function readRegions(words: readonly string[]): readonly CountryCode[] {
  const regions = words.map((word) => {
    const region = word.toUpperCase();
    if (isRegion(region)) return region;
    throw usage(
      `there is no region "${word}"`,
      'A region is a country code of two letters, such as US or DE.',
    );
  });
  return regions;
}

/** The library's own list would take 50 ms to load; this one has every country and a few that have no phones. */
function isRegion(text: string): text is CountryCode {
  if (!/^[A-Z]{2}$/.test(text)) return false;
  return new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' }).of(text) !== undefined;
}

/** The places where pseudonyms are restored; empty for `none`. */
function readRestore(words: readonly string[]): ReadonlySet<RestorePlace> {
  const places = words.flatMap((word): readonly RestorePlace[] => {
    const place = restorePlaces.find((candidate) => candidate === word.toLowerCase());
    if (place !== undefined) return [place];
    if (word.toLowerCase() === 'none') return [];
    throw usage(`nothing can be restored in "${word}"`, `There are ${restorePlaces.join(', ')} and none.`);
  });
  return new Set(places);
}

function usage(message: string, hint = 'Run signalbox-pii --help to see the arguments.'): RuntimeError {
  return new RuntimeError('USAGE', message, { hint });
}
