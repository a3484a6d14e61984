// How the site searches its pages: a classic script, because pages opened from a disk cannot load modules.
{
  const noise = new Set(
    'a about an and any are as at be by can do does for from how i if in is it me mean my of on or so that the then this to two up what when where which who why will with without you your'.split(
      ' ',
    ),
  );
  // The longest ending goes; what remains is found by its beginning.
  const ending = /(?:ations?|ions?|ings?|ied|ies|ers?|ors?|ed|es|s|e|y)$/;
  const stem = (word) => (word.length > 4 ? word.replace(ending, '') : word);

  // Tasks come before tables, and both before what concerns the project's developers.
  const weights = { start: 1.4, guides: 1.3, operate: 1.2, internals: 0.6 };

  globalThis.searchOptions = {
    fields: ['question', 'heading', 'page', 'text'],
    storeFields: ['heading', 'page'],
    tokenize: (text) => text.split(/[^\p{L}\p{N}_]+/u),
    processTerm: (term) => {
      const word = term.toLowerCase();
      return noise.has(word) ? null : stem(word);
    },
    searchOptions: {
      boost: { question: 8, heading: 3, page: 3 },
      prefix: (term) => term.length > 2,
      fuzzy: (term) => (term.length > 5 ? 0.15 : 0),
      combineWith: 'OR',
      // An error code is looked up in its table.
      boostDocument: (id, term) =>
        (weights[id.split('/')[0]] ?? 1) * (term.includes('_') && id.startsWith('reference/errors') ? 10 : 1),
    },
  };
}
