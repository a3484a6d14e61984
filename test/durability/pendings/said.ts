export type Said =
  | { readonly what: 'took'; readonly id: string; readonly run: string; readonly n: string }
  | { readonly what: 'won' | 'lost'; readonly id: string; readonly by: string };
