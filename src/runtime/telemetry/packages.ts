import { readFileSync } from 'node:fs';
import { createRequire, findPackageJSON } from 'node:module';
import { join } from 'node:path';

export type Api = typeof import('@opentelemetry/api');

/**
 * What users install for the SDK of the command line, at the versions of the tests. Everything else is a dependency of
 * these packages, and is loaded as they see it, so that there is one copy of it.
 */
const packages = {
  api: { name: '@opentelemetry/api', version: '1.10.0' },
  traces: { name: '@opentelemetry/exporter-trace-otlp-http', version: '0.301.0' },
  metrics: { name: '@opentelemetry/exporter-prometheus', version: '0.301.0' },
} as const;

export type Signal = 'traces' | 'metrics';

export function installCommand(signals: readonly Signal[]): string {
  const named = [packages.api, ...signals.map((signal) => packages[signal])];
  return `npm install ${named.map(({ name, version }) => `${name}@${version}`).join(' ')}`;
}

export interface PackageCopy {
  readonly name: string;
  readonly version: string;
  /** The file that `require` loads. */
  readonly file: string;
}

/** The places where a package may be: beside this program, and beside the config, where `npm install` was run. */
function placesOf(folder: string): readonly string[] {
  return [import.meta.filename, join(folder, 'runtime.yaml')];
}

/** The copies of a package that Node finds from the files, without duplicates. */
function findCopies(name: string, places: readonly string[]): PackageCopy[] {
  const copies = places.flatMap((place): PackageCopy[] => {
    try {
      const manifest = findPackageJSON(name, place);
      if (manifest === undefined) return [];
      const { version } = JSON.parse(readFileSync(manifest, 'utf8'));
      return [{ name, version: String(version), file: createRequire(place).resolve(name) }];
    } catch {
      return [];
    }
  });
  return [...new Map(copies.map((copy) => [copy.file, copy])).values()];
}

/** A copy of the exporter of the signal that can be used. Throws an error that says why there is none. */
export function findExporter(signal: Signal, folder: string): PackageCopy {
  const { name, version } = packages[signal];
  const copies = findCopies(name, placesOf(folder));
  const usable = copies.find((copy) => !isOlder(copy.version, version));
  if (usable !== undefined) return usable;
  const [first] = copies;
  if (first === undefined) throw new Error(`${name} is not installed`);
  throw new Error(`${name} ${first.version} (${first.file}) is older than ${version}`);
}

/** Programs that use the API beside Signalbox, and may have a copy of their own. */
const users = ['@ai-sdk/otel', '@opentelemetry/sdk-node', '@opentelemetry/sdk-trace-node', '@vercel/otel'];

/** All copies of the API that a program with this config may load. The first is that of Signalbox. */
export function findApis(folder: string): PackageCopy[] {
  const places = placesOf(folder);
  const others = users.flatMap((user) => findCopies(user, places).map(({ file }) => file));
  return findCopies(packages.api.name, [...places, ...others]);
}

/** What was registered in this process, by any copy of the API. Source: @opentelemetry/api, internal/global-utils. */
export function registeredApi():
  | ({ readonly version: string } & Record<Signal | 'diag', boolean>)
  | undefined {
  const found: unknown = Reflect.get(globalThis, Symbol.for('opentelemetry.js.api.1'));
  if (typeof found !== 'object' || found === null) return undefined;
  const has = (member: string) => Reflect.get(found, member) !== undefined;
  const version = String(Reflect.get(found, 'version'));
  return { version, traces: has('trace'), metrics: has('metrics'), diag: has('diag') };
}

/** A copy sees only what a copy of its own or a later minor version registered. Source: as above, internal/semver. */
export function canSee(copy: string, registered: string): boolean {
  const [major, minor] = partsOf(copy);
  const [registeredMajor, registeredMinor = 0] = partsOf(registered);
  return major === registeredMajor && (minor ?? 0) <= registeredMinor;
}

function isOlder(version: string, than: string): boolean {
  const parts = partsOf(than);
  const index = partsOf(version).findIndex((part, at) => part !== parts[at]);
  return index !== -1 && (partsOf(version)[index] ?? 0) < (parts[index] ?? 0);
}

function partsOf(version: string): number[] {
  return version.split('.', 3).map((part) => Number.parseInt(part, 10));
}
