"""Remakes every fixture that holds another library's answers: `make oracles`."""

from benchmarks.oracles import pref_voting_winners

if __name__ == "__main__":
    pref_voting_winners.main()
