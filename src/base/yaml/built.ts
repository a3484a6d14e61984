import { createRequire } from 'node:module';
import { RuntimeError } from '../errors.ts';

const load = createRequire(import.meta.url);

/** A module that `npm run build` makes, by its name below `imports` in package.json. Throws INTERNAL when it is missing. */
export function loadBuilt<Module>(name: `#${string}`): Module {
  try {
    const built: Module = load(name);
    return built;
  } catch (cause) {
    throw new RuntimeError('INTERNAL', `${name}, which is made when Signalbox is built, cannot be loaded`, {
      hint: 'Run `npm run build`. A JSON Schema that is new must stand in schema/validators.ts, too.',
      cause,
    });
  }
}
