declare module 'parse-prometheus-text-format' {
  interface Sample {
    readonly labels?: Readonly<Record<string, string>>;
    /** Present for a counter or a gauge. */
    readonly value?: string;
    /** Present for a histogram without labels. The parser merges those with labels. */
    readonly sum?: string;
    readonly count?: string;
  }

  interface Family {
    readonly name: string;
    readonly help: string;
    readonly type: string;
    readonly metrics: readonly Sample[];
  }

  export default function parsePrometheusTextFormat(text: string): Family[];
}
