"""Whether a judge follows its own protocol: replays, their logic and their audit."""
