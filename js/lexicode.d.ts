/** A row that `mostSimilar` found. */
export interface Neighbour {
  /** The row's word; undefined in a table of ids. */
  word: string | undefined;
  /** The row's number, from 0. */
  row: number;
  /** Its cosine similarity to what was asked for, -1 to 1. */
  cosine: number;
}

/** An embedding table of `size` rows and `dim` columns, held as short codes and small codebooks. */
export interface CodedEmbedding {
  /** How many rows there are. */
  readonly size: number;
  /** How many numbers a row has. */
  readonly dim: number;
  /** Codebooks x codewords, such as "32x16". */
  readonly scheme: string;
  /** The words in row order; null for a table of ids. */
  readonly words: readonly string[] | null;
  /** Whether the vocabulary has the word. */
  has(word: string): boolean;
  /** The word's vector of `dim` numbers, or undefined where the word is unknown. */
  get(word: string): Float32Array | undefined;
  /** The vector of a row number or of a word. Throws where there is no such row or word. */
  vector(query: number | string): Float32Array;
  /** The code of a row number or of a word: the number of a codeword for each codebook. */
  code(query: number | string): Uint16Array;
  /** Whether a row, given by its number or its word, is kept as it is, so that its code is not used. */
  isExact(query: number | string): boolean;
  /**
   * The `n` rows (10 unless told) of highest cosine similarity to a word, a row number or a vector of `dim` numbers,
   * best first. A word or row is not its own neighbour. The first call measures the length of every row.
   */
  mostSimilar(query: number | string | ArrayLike<number>, n?: number): Neighbour[];
}

/** Read a file that lexicode made, from its address or its bytes. Rejects with an Error that says what is wrong. */
export function load(source: string | URL | ArrayBuffer | ArrayBufferView): Promise<CodedEmbedding>;
