declare module 'parse-prometheus-text-format' {
  interface Sample {
    readonly labels?: Readonly<Record<string, string>>;
    /** Of a counter or a gauge. */
    readonly value?: string;
    /** Of a histogram without labels: those with labels it runs together. */
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
