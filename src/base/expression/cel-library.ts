import { createRequire } from 'node:module';

const load = createRequire(import.meta.url);
let loaded: typeof import('@marcbachmann/cel-js') | undefined;

/** The CEL package, loaded for the first expression: it registers every operator of the language when it is loaded. */
export function celLibrary(): typeof import('@marcbachmann/cel-js') {
  const library: typeof import('@marcbachmann/cel-js') = loaded ?? load('@marcbachmann/cel-js');
  loaded = library;
  return library;
}
