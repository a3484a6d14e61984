import type { Api, Kind, Me } from './api.ts';

export interface Section {
  /** Shows the address; called again when the address changes within the section. */
  show(address: Address): void | Promise<void>;
  /** Handles a key that is not typed into a field; true if it was used. */
  key?(event: KeyboardEvent): boolean;
  /** What keys do, for the help. */
  readonly keys?: readonly (readonly [key: string, what: string])[];
  close(): void;
}

export type OpenSection = (main: HTMLElement, page: Page) => Section;

export interface Address {
  /** The decoded parts of the path after the name of the section. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
}

export interface Page {
  readonly api: Api;
  readonly me: Me;
  /** A path within /console, such as `/runs/ID?step=x`. */
  go(path: string, options?: { readonly replace?: boolean }): void;
  hrefOf(path: string): string;
  /**
   * Calls back when these kinds may have changed, at most once a second, also after the stream was broken. While the
   * page is hidden it waits, unless `background` is set. Returns a function that stops it.
   */
  watch(
    kinds: readonly Kind[],
    onChange: () => void,
    options?: { readonly background?: boolean },
  ): () => void;
  /** Shows a message for some seconds, which screen readers read. An error stays until it is closed. */
  say(message: string, kind?: 'info' | 'error'): void;
}
