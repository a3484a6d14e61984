import { createRequire } from 'node:module';
import { RuntimeError } from '../errors.ts';

const load = createRequire(import.meta.url);

/** Loads a module of `npm run build` by its name in `imports` of package.json. Throws INTERNAL if missing. */
export function loadBuilt<Module>(name: `#${string}`): Module {
  try {
    const built: Module = load(name);
    return built;
  } catch (cause) {
    throw new RuntimeError('INTERNAL', `${name}, which the build creates, cannot be loaded`, {
      hint: 'Run `npm run build`. Add a new JSON Schema to schema/validators.ts, too.',
      cause,
    });
  }
}
