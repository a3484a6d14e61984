import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

const root = join(import.meta.dirname, '../../..');
const packages = join(root, 'node_modules');

/** The older copy of the API, which a library of users pins. */
export const olderApi = join(packages, '@ai-sdk/otel/node_modules/@opentelemetry/api');

/** Copies what the package contains into node_modules of the folder, beside no package of telemetry. */
export function installSignalbox(folder: string): string {
  const installed = join(folder, 'node_modules/signalbox');
  for (const name of ['dist', 'package.json'])
    cpSync(join(root, name), join(installed, name), { recursive: true });
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies }))
    link(join(packages, name), join(installed, 'node_modules', name));
  return installed;
}

/** The API is copied, because a program finds a copy by its place. */
export function installApi(folder: string, from = join(packages, '@opentelemetry/api')): void {
  cpSync(from, join(folder, 'node_modules/@opentelemetry/api'), { recursive: true });
}

export function linkPackage(folder: string, name: string): void {
  link(join(packages, name), join(folder, 'node_modules', name));
}

function link(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  symlinkSync(from, to);
}
